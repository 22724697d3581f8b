const bytesMax = 255

/**
 * The name of an upload in its address, as GitLab makes it from the name that a client gives: without
 * folders, and with `_` for every character that is no letter, digit, `_`, `.`, `-` or `+`.
 */
export function uploadNameOf(given: string): string {
  const last = given.replaceAll('\\', '/').split('/').at(-1) ?? ''
  const name = last.replaceAll(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_')
  return shortened(/^\.*$/.test(name) ? `_${name}` : name)
}

/** At most as many bytes as a file system takes; the ending stays. */
function shortened(name: string): string {
  const ending = endingOf(name).slice(-extensionMax)
  let stem = name.slice(0, name.length - ending.length)
  while (Buffer.byteLength(stem + ending) > bytesMax) stem = stem.slice(0, -1).replace(/\p{Surrogate}$/u, '')
  return stem + ending
}

const extensionMax = 20

/** `.png` of `a.png`; empty without one. */
const endingOf = (name: string) => /[^.](\.[^.]+)$/.exec(name)?.[1] ?? ''

const embeddable = new Set(
  ['png', 'jpg', 'jpeg', 'gif', 'bmp', 'tiff', 'ico', 'webp', 'mp4', 'm4v', 'mov', 'webm', 'ogv']
    .concat('mp3', 'oga', 'ogg', 'spx', 'wav')
    .map((ending) => `.${ending}`),
)

/**
 * The text of an upload in Markdown: pictures, videos and sounds without their ending, as GitLab embeds them.
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
 * The media type of a picture that browsers may show: of no other file is the type trusted. Undefined: not
 * one of these.
 */
export const pictureTypeOf = (fileName: string): string | undefined =>
  pictureTypes.get(endingOf(fileName).toLowerCase())
