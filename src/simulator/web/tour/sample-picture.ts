import { uploadImage, type Upload } from '../api-client.ts';

const WIDTH = 320;
const HEIGHT = 200;

/** Draws a small picture, for users without one, and uploads it. @throws ApiError */
export async function uploadSamplePicture(): Promise<Required<Upload>> {
  const canvas = Object.assign(document.createElement('canvas'), { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext('2d');
  if (pen) {
    pen.fillStyle = '#8ec5ff';
    pen.fillRect(0, 0, WIDTH, HEIGHT);
    pen.fillStyle = '#ffd24d';
    pen.beginPath();
    pen.arc(250, 55, 28, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = '#3f8f5b';
    pen.beginPath();
    pen.moveTo(0, HEIGHT);
    pen.lineTo(110, 70);
    pen.lineTo(200, 150);
    pen.lineTo(250, 110);
    pen.lineTo(WIDTH, HEIGHT);
    pen.fill();
  }
  const picture = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  return uploadImage(picture ?? new Blob([], { type: 'image/png' }));
}
