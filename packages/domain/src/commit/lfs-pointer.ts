/** Largest size of a pointer. Larger files are not pointers. */
export const lfsPointerBytesMax = 1024

/** An object of Git LFS, to which a small file in git points. */
export interface LfsObject {
  /** SHA-256 of its bytes, 64 hexadecimal digits in lower case. */
  oid: string
  /** Number of bytes. */
  size: number
}

export const isLfsOid = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** Reads a pointer of Git LFS ("The Pointer" in docs/spec.md of git-lfs); null for any other content. */
export function parseLfsPointer(content: string): LfsObject | null {
  const [version, ...lines] = content.split('\n')
  if (version !== 'version https://git-lfs.github.com/spec/v1') return null
  const fields = new Map(
    lines.map((line): [string, string] => {
      const blank = line.indexOf(' ')
      return blank < 0 ? [line, ''] : [line.slice(0, blank), line.slice(blank + 1)]
    }),
  )
  const [method, oid = ''] = (fields.get('oid') ?? '').split(':', 2)
  const size = /^\d{1,15}$/.test(fields.get('size') ?? '') ? Number(fields.get('size')) : null
  return method !== 'sha256' || !isLfsOid(oid) || size === null ? null : { oid, size }
}
