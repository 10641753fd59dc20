// Reads the numbers of the page: JSON, with arrays as base64 in little-endian order.

const ARRAYS = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array };

function decodeArray({ type, base64 }) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new ARRAYS[type](bytes.buffer);
}

// Arrays are found at any depth, so that the layout of the page is stated in one place only.
function decodeAll(value) {
  if (value === null || typeof value !== "object") return value;
  if (typeof value.base64 === "string") return decodeArray(value);
  if (Array.isArray(value)) return value.map(decodeAll);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decodeAll(part)]));
}

function readData() {
  return decodeAll(JSON.parse(document.getElementById("data").textContent));
}
