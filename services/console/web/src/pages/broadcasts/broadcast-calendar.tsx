import { plainText } from '../../components/message-text'
import { useNow } from '../../components/time'
import type { BroadcastMessage } from '../../generated/types.gen'
import { exactTime } from '../../lib/format'
import { dayMs } from '../../lib/local-time'
import { dayStarts, placeInDays } from './calendar-days'

const days = 14
const rowsMax = 20

/** A calendar of the next two weeks, beginning yesterday, with the messages of each day. */
export function BroadcastCalendar({ messages }: { messages: BroadcastMessage[] }) {
  const now = useNow(60_000)
  const starts = dayStarts(now - dayMs, days)
  const [start = 0, end = 0] = [starts[0], starts.at(-1)]
  const place = (time: number) => placeInDays(time, starts)
  const bars = messages
    .map((message) => ({
      message,
      from: new Date(message.starts_at).getTime(),
      to: new Date(message.ends_at).getTime(),
    }))
    .filter(({ from, to }) => to > start && from < end)
    .sort((a, b) => a.from - b.from)
    .slice(0, rowsMax)
  if (bars.length === 0) return null
  return (
    <figure aria-label="Calendar of broadcasts" className="relative mb-5 rounded-lg border bg-panel p-4">
      <figcaption className="mb-2 font-semibold">Two weeks</figcaption>
      <div aria-hidden="true">
        <div className="mb-1 grid text-xs text-quiet" style={{ gridTemplateColumns: `repeat(${days}, 1fr)` }}>
          {starts.slice(0, -1).map((day) => (
            <DayHead key={day} time={day} />
          ))}
        </div>
        {bars.map(({ message, from, to }) => (
          <div key={message.id} className="mb-2">
            <div className="mt-2 mb-0.5 truncate text-xs" dir="auto">
              {plainText(message.message)}
            </div>
            <div className="relative h-3 overflow-hidden rounded bg-raised">
              <div
                className="absolute inset-y-0 min-w-1 rounded"
                style={{
                  left: `${place(from)}%`,
                  width: `${place(to) - place(from)}%`,
                  background: message.color,
                }}
              />
              <div className="absolute inset-y-0 w-0.5 bg-bad" style={{ left: `${place(now)}%` }} />
            </div>
          </div>
        ))}
      </div>
      <div className="sr-only">
        <table>
          <caption>Which broadcast is shown when</caption>
          <thead>
            <tr>
              <th scope="col">Message</th>
              <th scope="col">Starts</th>
              <th scope="col">Ends</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ message, from, to }) => (
              <tr key={message.id}>
                <td>{plainText(message.message)}</td>
                <td>{exactTime(new Date(from))}</td>
                <td>{exactTime(new Date(to))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' })

/** The name of the day is hidden on narrow screens. */
const DayHead = ({ time }: { time: number }) => (
  <span className="truncate border-l pl-1">
    <span className="hidden sm:inline">{weekday.format(new Date(time))} </span>
    {new Date(time).getDate()}
  </span>
)
