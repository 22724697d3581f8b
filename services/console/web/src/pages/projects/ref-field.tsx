import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useId } from 'react'
import { TextField } from '../../components/fields'
import { refNamesQuery } from './project-data'
import { useProjectPath } from './project-frame'

/** A field for a branch, or for a branch or tag. The names that contain the typed text are its choices. */
export function RefField({
  label,
  value,
  onChange,
  kinds = 'branches and tags',
  ...rest
}: {
  label: string
  value: string
  onChange: (value: string) => void
  kinds?: 'branches' | 'branches and tags'
  hint?: string
  problem?: string | undefined
  autoFocus?: boolean
  required?: boolean
}) {
  const id = useId()
  const names = useRefNames(value, kinds)
  return (
    <>
      <TextField
        {...rest}
        label={label}
        list={id}
        value={value}
        maxLength={255}
        onChange={(event) => onChange(event.target.value)}
        className="font-mono text-sm"
      />
      <datalist id={id}>
        {names.map(({ name, kind }) => (
          <option key={`${kind} ${name}`} value={name}>
            {kind}
          </option>
        ))}
      </datalist>
    </>
  )
}

/** Branches, or branches and tags, whose names contain the text. */
export function useRefNames(text: string, kinds: 'branches' | 'branches and tags') {
  const search = useDeferredValue(text.trim())
  return useQuery(refNamesQuery(useProjectPath(), search, kinds)).data ?? []
}
