/** Text around selectors of series in PromQL, after strings were removed. */
const around = [
  /\$\w+/g,
  /\[[^\]]*\]/g,
  /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g,
  /\b\w+\s*(?=\()/g,
  /\b(?:and|or|unless|bool|offset)\b/g,
  /\b[\d.]+(?:e[+-]?\d+)?\b/g,
]

/**
 * Returns the selectors of series in an expression of PromQL: `up{job="x"}` in
 * `max_over_time(up{job="x"}[5m]) > 0`.
 */
export function selectorsOf(expression: string): string[] {
  const strings: string[] = []
  const bare = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => `"${strings.push(text) - 1}"`)
  const labels: string[] = []
  const named = bare.replaceAll(/\{[^}]*\}/g, (text) => `@_${labels.push(text) - 1}@`)
  const rest = around.reduce((text, pattern) => text.replaceAll(pattern, ' '), named)
  const found = [...rest.matchAll(/([a-zA-Z_:][\w:]*)(?:@_(\d+)@)?/g)].map(
    ([, name, index]) => `${name}${index === undefined ? '' : labels[Number(index)]}`,
  )
  return found.map((selector) =>
    selector.replaceAll(/"(\d+)"/g, (_text, index) => strings[Number(index)] ?? ''),
  )
}

export const metricOf = (selector: string): string => selector.replace(/\{.*/s, '')
