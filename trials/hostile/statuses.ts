/** Returns `401 × 60, 429 × 40`. */
export function statusesOf(answers: { status: number }[]): string {
  const counts = new Map<number, number>()
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => (count === 1 ? status : `${status} × ${count}`)).join(', ')
}
