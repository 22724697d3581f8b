import type { ReleaseLink } from '../../../generated/types.gen'

export const linkTypes = ['package', 'image', 'runbook', 'other'] as const

/**
 * Returns the package version of a tag, which may have fewer characters: `a/b` becomes `a+2Fb`. No two tags
 * have the same version.
 */
export const versionOf = (tag: string): string =>
  encodeURIComponent(tag)
    .replaceAll(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '+')

/** Returns a file name for the last part of an address: letters, digits, `-`, `.` and `_`. */
export function addressNameOf(name: string): string {
  const text = name.replaceAll(/[^\w.-]+/g, '-')
  let end = text.length
  while (/[.-]/.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/**
 * Returns the address of a package file of the same project below `/api/v4`; undefined for any other file.
 */
export function packageAddressOf({ url, sha256 }: ReleaseLink): string | undefined {
  if (sha256 === undefined) return undefined
  const [, ...rest] = new URL(url).pathname.split('/api/v4/')
  const address = `/${rest.join('/api/v4/')}`
  return /^\/projects\/[^/]+\/packages\/generic\/./.test(address) ? address : undefined
}
