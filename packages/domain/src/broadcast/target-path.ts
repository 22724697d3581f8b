/**
 * Whether a message for `target` is shown on the page `path`. `*` stands for any text, also with slashes in
 * it; everything else is compared as it is, whatever the case. No target means every page; both sides may
 * leave out their first slash.
 *
 * Takes at most the product of both lengths, so that no target can keep a process busy: a regular expression
 * made of it could.
 */
export function matchesTargetPath(target: string | null, path: string): boolean {
  if (target === null || target.trim() === '') return true
  const pattern = target.trim().toLowerCase()
  return matchesPattern(pattern.startsWith('*') ? pattern : rooted(pattern), rooted(path.toLowerCase()))
}

const rooted = (path: string) => (path.startsWith('/') ? path : `/${path}`)

function matchesPattern(pattern: string, text: string): boolean {
  let inPattern = 0
  let inText = 0
  /** Where to go on when what follows the last `*` does not fit: that `*` takes one character more. */
  let afterStar = -1
  let takenByStar = 0
  while (inText < text.length) {
    if (pattern[inPattern] === '*') {
      inPattern += 1
      afterStar = inPattern
      takenByStar = inText
    } else if (pattern[inPattern] === text[inText]) {
      inPattern += 1
      inText += 1
    } else if (afterStar === -1) {
      return false
    } else {
      takenByStar += 1
      inPattern = afterStar
      inText = takenByStar
    }
  }
  while (pattern[inPattern] === '*') inPattern += 1
  return inPattern === pattern.length
}
