// SPDX-License-Identifier: BSD-3-Clause
// Images of rows in grey, and of weights from blue over white to orange.
const NEGATIVE = [5, 98, 160];
const POSITIVE = [196, 84, 0];
const MIDDLE = [250, 250, 248];

function greyOf(byte) {
  return [byte, byte, byte];
}

function weightColour(byte) {
  const weight = (byte - 128) / 127;
  const end = weight < 0 ? NEGATIVE : POSITIVE;
  const part = Math.min(1, Math.abs(weight)) ** 0.8;
  return MIDDLE.map((middle, i) => Math.round(middle + (end[i] - middle) * part));
}

// The address of a picture whose bytes are given in base64, one for each pixel.
function pictureAddress(encoded, colourOf) {
  const { width, height } = report.explorer.picture;
  const canvas = element("canvas", { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const bytes = atob(encoded);
  for (let i = 0; i < bytes.length; i += 1) {
    image.data.set([...colourOf(bytes.charCodeAt(i)), 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
