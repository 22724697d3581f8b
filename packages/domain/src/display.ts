// Texts and times in the form in which people read them, in the console and on a terminal.

/** Formats a duration: `1.4 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(milliseconds: number): string {
  // A unit ends where its rounded figure would reach the next unit.
  if (Math.round(milliseconds) < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

// Characters that reorder text or are invisible, so that code and names with them read differently than they
// are. Blanks, and the characters that join letters and emoji, are not among them.
const unseen =
  /[^\P{Cc}\t\n\r]|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|\u{1f3f4}?[\u{e0000}-\u{e007f}]+/gu
/** Flags of regions are written with characters that count as hidden elsewhere. */
const flag = '\u{1f3f4}'

/** Replaces control characters and hidden characters by a visible form: `U+202E`. */
export const visibleControls = (text: string) =>
  text.replace(unseen, (found) =>
    found.startsWith(flag) ? found : [...found].map((character) => `U+${hexOf(character)}`).join(''),
  )

const hexOf = (character: string) => character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
