import type { Commit } from '../../../generated/types.gen'

/** One row of the graph. A lane is a column, from 0. */
export interface GraphRow {
  lane: number
  /** Lines from a lane of the row above to a lane of the row below. */
  through: { from: number; to: number }[]
  /** Lanes above that end in the commit. */
  into: number[]
  /** Lanes below that lead to the parents of the commit. */
  out: number[]
}

/** Lays out commits, newest first. Each lane waits for the commit to which it leads. */
export function layOut(commits: readonly Pick<Commit, 'id' | 'parent_ids'>[]): GraphRow[] {
  let lanes: (string | undefined)[] = []
  const shown = new Set<string>()
  return commits.map(({ id, parent_ids }) => {
    shown.add(id)
    const into = lanes.flatMap((waiting, lane) => (waiting === id ? [lane] : []))
    const lane = into[0] ?? freeLane(lanes)
    const through = lanes.flatMap((waiting, at) =>
      waiting !== undefined && waiting !== id ? [{ from: at, to: at }] : [],
    )
    const next = lanes.map((waiting) => (waiting === id ? undefined : waiting))
    // Commits of the same second may be below their parents.
    const out = parent_ids
      .filter((parent) => !shown.has(parent))
      .map((parent, index) => {
        const known = next.indexOf(parent)
        if (known !== -1) return known
        const at = index === 0 && next[lane] === undefined ? lane : freeLane(next)
        next[at] = parent
        return at
      })
    lanes = next
    return { lane, through, into, out }
  })
}

function freeLane(lanes: readonly (string | undefined)[]): number {
  const free = lanes.indexOf(undefined)
  return free === -1 ? lanes.length : free
}

const laneWidth = 14
const height = 58
/** Number of lanes that are drawn. */
const lanesMax = 8

const colors = ['stroke-accent', 'stroke-good', 'stroke-warn', 'stroke-busy', 'stroke-bad']
const colorOf = (lane: number) => colors[lane % colors.length]
const xOf = (lane: number) => Math.min(lane, lanesMax) * laneWidth + laneWidth / 2
const middle = height / 2

/**
 * The lines of the graph in the row of a commit, only for decoration, because the page of the commit names
 * its parents.
 */
export function GraphCell({ row, lanes }: { row: GraphRow; lanes: number }) {
  const width = (Math.min(lanes, lanesMax) + 1) * laneWidth
  return (
    <div className="relative h-10" style={{ width }}>
      {/* A line of text, so that the first lines of the other cells stand at the top of the row and the lines meet. */}
      {'\u00a0'}
      <svg
        aria-hidden="true"
        width={width}
        height={height}
        className="absolute -top-2 left-0 fill-none stroke-2"
      >
        {row.through.map(({ from, to }) => (
          <path key={`t${from}`} className={colorOf(to)} d={`M${xOf(from)} 0 L${xOf(to)} ${height}`} />
        ))}
        {row.into.map((from) => (
          <path key={`i${from}`} className={colorOf(from)} d={curve(from, 0, row.lane, middle)} />
        ))}
        {row.out.map((to) => (
          <path key={`o${to}`} className={colorOf(to)} d={curve(row.lane, middle, to, height)} />
        ))}
        <circle cx={xOf(row.lane)} cy={middle} r="4" className={`fill-panel ${colorOf(row.lane)}`} />
      </svg>
    </div>
  )
}

function curve(fromLane: number, fromY: number, toLane: number, toY: number): string {
  const [x1, x2, half] = [xOf(fromLane), xOf(toLane), (fromY + toY) / 2]
  return `M${x1} ${fromY} C${x1} ${half} ${x2} ${half} ${x2} ${toY}`
}
