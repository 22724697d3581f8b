import { type Range, ranges } from './history'

const names: Record<Range, string> = { hour: 'Last hour', day: 'Last day' }

export const RangeChoice = ({ range, onChoose }: { range: Range; onChoose: (range: Range) => void }) => (
  <fieldset className="flex rounded-md border bg-panel p-0.5 text-sm">
    <legend className="sr-only">Time</legend>
    {ranges.map((value) => (
      <label
        key={value}
        className="cursor-pointer rounded px-2.5 py-1 has-checked:bg-accent-soft has-checked:text-accent has-focus-visible:outline-2"
      >
        <input
          type="radio"
          name="range"
          className="sr-only"
          checked={value === range}
          onChange={() => onChoose(value)}
        />
        {names[value]}
      </label>
    ))}
  </fieldset>
)
