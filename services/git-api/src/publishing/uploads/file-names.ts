const bytesMax = 255

/**
 * Returns the name of an upload in its address, as GitLab derives it from the client's name: without folders,
 * and with `_` for every character except letters, digits, `_`, `.`, `-` and `+`.
 */
export function uploadNameOf(given: string): string {
  const last = given.replaceAll('\\', '/').split('/').at(-1) ?? ''
  const name = last.replaceAll(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_')
  return shortened(/^\.*$/.test(name) ? `_${name}` : name)
}

/** Shortens a name to the limit of file systems and keeps its extension. */
function shortened(name: string): string {
  const ending = endingOf(name).slice(-extensionMax)
  // A character has a byte at least. Without this cut, the loop takes seconds for a very long name.
  let stem = name.slice(0, name.length - ending.length).slice(0, bytesMax)
  while (Buffer.byteLength(stem + ending) > bytesMax) stem = stem.slice(0, -1).replace(/\p{Surrogate}$/u, '')
  return stem + ending
}

const extensionMax = 20

/** Returns `.png` for `a.png`; empty for a name without an extension. */
const endingOf = (name: string) => /[^.](\.[^.]+)$/.exec(name)?.[1] ?? ''

const embeddable = new Set(
  ['png', 'jpg', 'jpeg', 'gif', 'bmp', 'tiff', 'ico', 'webp', 'mp4', 'm4v', 'mov', 'webm', 'ogv']
    .concat('mp3', 'oga', 'ogg', 'spx', 'wav')
    .map((ending) => `.${ending}`),
)

/**
 * Returns the Markdown that embeds an upload. As in GitLab, the text of pictures, videos and sounds has no
 * extension.
 */
export function markdownOf(fileName: string, url: string): { alt: string; markdown: string } {
  const ending = endingOf(fileName)
  if (!embeddable.has(ending.toLowerCase())) return { alt: fileName, markdown: `[${fileName}](${url})` }
  const alt = fileName.slice(0, fileName.length - ending.length)
  return { alt, markdown: `![${alt}](${url})` }
}

const pictureTypes = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
])

/**
 * Returns the media type of a picture that browsers may display; undefined for every other file, because its
 * type is not trusted.
 */
export const pictureTypeOf = (fileName: string): string | undefined =>
  pictureTypes.get(endingOf(fileName).toLowerCase())
