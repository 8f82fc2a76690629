package contender

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Zipped is the size in bytes of the archive with that one file in it, compressed as well as the format allows.
func Zipped(path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("zip: %w", err)
	}
	defer file.Close()
	var size counter
	archive := zip.NewWriter(&size)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	header := &zip.FileHeader{Name: filepath.Base(path), Method: zip.Deflate}
	header.SetMode(0o755)
	entry, err := archive.CreateHeader(header)
	if err == nil {
		_, err = io.Copy(entry, file)
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("zip %s: %w", path, err)
	}
	return int64(size), nil
}

// counter is a writer that counts.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
