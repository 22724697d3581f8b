import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { exactTime } from '../lib/format'
import { useThemeChoice } from '../lib/theme'

export interface Series {
  name: string
  /** A colour of the theme: `accent`, `bad`, … */
  color: string
  values: (number | null)[]
}

const height = 160
/** Most rows of the table for screen readers, which are spread over the time. */
const tableRowsMax = 60

/**
 * Lines over time. The chart contains a table of the same values for screen readers.
 *
 * @param times of all values, in milliseconds
 * @param steps possible distances between marks of the value axis, ascending; unset: round numbers
 * @param weekly whether the times are starts of weeks in UTC, which are shown as days, with a point for each
 *   value
 */
export function Chart({
  name,
  times,
  series,
  format = String,
  steps,
  weekly = false,
}: {
  name: string
  times: number[]
  series: Series[]
  format?: (value: number) => string
  steps?: readonly number[] | undefined
  weekly?: boolean
}) {
  const ref = useRef<HTMLDivElement>(null)
  const theme = useThemeChoice()
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const chart = draw(element, times, series, { format, steps, weekly })
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [times, series, format, steps, weekly, theme])
  const step = Math.max(1, Math.ceil(times.length / tableRowsMax))
  const rows = times.flatMap((time, index) => (index % step === 0 ? [{ time, index }] : []))
  return (
    <figure aria-label={name} className="relative min-w-0">
      <figcaption className="mb-1 flex flex-wrap gap-x-4 text-sm">
        <span className="font-medium">{name}</span>
        {series.length > 1 &&
          series.map((one) => (
            <span key={one.name} className="flex items-center gap-1.5 text-quiet">
              <span className="size-2 rounded-full" style={{ background: `var(--${one.color})` }} />
              {one.name}
            </span>
          ))}
      </figcaption>
      <div ref={ref} aria-hidden="true" style={{ minHeight: height }} />
      <div className="sr-only">
        <table>
          <caption>{name}</caption>
          <thead>
            <tr>
              <th scope="col">{weekly ? 'Week of' : 'Time'}</th>
              {series.map((one) => (
                <th key={one.name} scope="col">
                  {one.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ time, index }) => (
              <tr key={time}>
                <td>{weekly ? exactDay.format(time) : exactTime(new Date(time))}</td>
                {series.map((one) => (
                  <td key={one.name}>{shown(one.values[index], format)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

const shown = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? 'unknown' : format(value)

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const exactClock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

const exactDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Returns '20:29', or '20:29:45' where marks are closer together than a minute. */
function clockTimes(seconds: number[]): string[] {
  const [first = 0, second = first + 60] = seconds
  const format = second - first < 60 ? exactClock : clock
  return seconds.map((time) => format.format(new Date(time * 1000)))
}

function draw(
  element: HTMLElement,
  times: number[],
  series: Series[],
  {
    format,
    steps,
    weekly,
  }: { format: (value: number) => string; steps: readonly number[] | undefined; weekly: boolean },
): uPlot {
  const styles = getComputedStyle(document.documentElement)
  const color = (token: string) => styles.getPropertyValue(`--${token}`).trim()
  const axis = {
    stroke: color('quiet'),
    grid: { stroke: color('line'), width: 1 },
    ticks: { stroke: color('line'), width: 1 },
    font: '12px system-ui, sans-serif',
  }
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    legend: { show: false },
    ...(weekly && { tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    cursor: { y: false },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, max ?? 1) * 1.1] } },
    axes: [
      {
        ...axis,
        values: (_chart, seconds) =>
          weekly ? seconds.map((time) => day.format(time * 1000)) : clockTimes(seconds),
      },
      {
        ...axis,
        size: 64,
        ...(steps && { incrs: [...steps] }),
        values: (_chart, values) => values.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.name,
        stroke: color(one.color),
        width: 1.5,
        spanGaps: false,
        // A week between two weeks without a value would have no line.
        points: weekly ? { show: true, size: 5 } : { show: false },
      })),
    ],
  }
  return new uPlot(options, [times.map((time) => time / 1000), ...series.map((one) => one.values)], element)
}
