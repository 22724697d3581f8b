const codes = ['ENOSPC', 'EDQUOT']
/** Texts of git and PostgreSQL about what the operating system told them. */
const texts = /No space left on device|Disk quota exceeded/

/** Whether a failure was caused by a full disk: of this process, of git or of PostgreSQL. */
export function isOutOfSpace(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    const { code, stderr } = at as { code?: unknown; stderr?: unknown }
    if (codes.includes(String(code)) || texts.test(at.message) || texts.test(String(stderr ?? '')))
      return true
  }
  return false
}
