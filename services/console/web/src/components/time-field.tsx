import { useState } from 'react'
import { exactTime } from '../lib/format'
import { localTime, momentsOfLocal, timeOfLocal } from '../lib/local-time'
import { SelectField, TextField } from './fields'

/**
 * A field for an instant in the viewer's time zone, to the second. Below it is the zone, and, in an hour that
 * occurs twice, the choice between the two.
 *
 * @param value in ISO 8601; '' while the field has no time
 */
export function TimeField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const [text, setText] = useState(() => localTime(value))
  const moments = momentsOfLocal(text)
  return (
    <div>
      <TextField
        label={label}
        type="datetime-local"
        step={1}
        required
        value={text}
        hint={value && exactTime(new Date(value))}
        onChange={({ target }) => {
          setText(target.value)
          onChange(timeOfLocal(target.value, value) ?? '')
        }}
      />
      {moments.length > 1 && (
        <SelectField
          label={`${label}: this hour comes twice`}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          {moments.map((moment) => (
            <option key={moment} value={moment}>
              {exactTime(new Date(moment))}
            </option>
          ))}
        </SelectField>
      )}
    </div>
  )
}
