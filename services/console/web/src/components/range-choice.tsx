import { useId } from 'react'

/** The ranges of time of a page, one of which is chosen. @param names names of the ranges, in order */
export function RangeChoice<Range extends string>({
  names,
  range,
  onChoose,
}: {
  names: readonly (readonly [Range, string])[]
  range: Range
  onChoose: (range: Range) => void
}) {
  const group = useId()
  return (
    <fieldset className="flex rounded-md border bg-panel p-0.5 text-sm">
      <legend className="sr-only">Time</legend>
      {names.map(([value, name]) => (
        <label
          key={value}
          className="cursor-pointer rounded px-2.5 py-1 has-checked:bg-accent-soft has-checked:text-accent has-focus-visible:outline-2"
        >
          <input
            type="radio"
            name={group}
            className="sr-only"
            checked={value === range}
            onChange={() => onChoose(value)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
