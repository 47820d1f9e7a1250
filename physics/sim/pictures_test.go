package sim

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"
)

// Any reader of PNG files can read the pictures: Go's own stands for them.
func TestPicturesAreWhitePNG(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 3}, {8, 2}, {1024, 1536}, {mostSide, 2}} {
		picture, err := png.Decode(bytes.NewReader(pngOf(size[0], size[1])))
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		if b := picture.Bounds(); b.Dx() != size[0] || b.Dy() != size[1] {
			t.Errorf("%v: the picture is %d x %d", size, b.Dx(), b.Dy())
		}
		for x := range size[0] {
			for y := range size[1] {
				if color.GrayModel.Convert(picture.At(x, y)) != (color.Gray{Y: 255}) {
					t.Fatalf("%v: the point %d, %d is not white", size, x, y)
				}
			}
		}
	}
}
