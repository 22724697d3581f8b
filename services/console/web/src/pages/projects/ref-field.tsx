import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useDeferredValue, useEffect, useId } from 'react'
import { TextField } from '../../components/fields'
import { useTyped } from '../../components/use-typed'
import { refNamesQuery } from './project-data'
import { useProjectPath } from './project-frame'

/** A field for a branch, or for a branch or tag, with the names that contain the typed text as choices. */
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
      <Choices id={id} names={names} />
    </>
  )
}

/**
 * Chooses a branch or tag for a list. It searches during typing; a complete name applies at once, any other
 * text (such as a commit id) with Enter.
 */
export function BranchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId()
  const [text, setText] = useTyped(value)
  const names = useRefNames(text === value ? '' : text, 'branches and tags')
  const isChosen = text !== value && names.some(({ name }) => name === text)
  useEffect(() => {
    if (isChosen) onChange(text)
  }, [isChosen, text, onChange])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim()) onChange(text.trim())
  }
  return (
    <form onSubmit={submit} className="w-full sm:w-52">
      <input
        aria-label="Branch"
        list={id}
        value={text}
        maxLength={255}
        dir="auto"
        autoComplete="off"
        placeholder="Branch or tag"
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => setText(value)}
        className="min-h-8 w-full rounded-md border bg-panel px-2.5 py-1 font-mono text-sm"
      />
      <Choices id={id} names={names} />
    </form>
  )
}

const Choices = ({ id, names }: { id: string; names: ReturnType<typeof useRefNames> }) => (
  <datalist id={id}>
    {names.map(({ name, kind }) => (
      <option key={`${kind} ${name}`} value={name}>
        {kind}
      </option>
    ))}
  </datalist>
)

/** Reads branches, or branches and tags, whose names contain the text. */
export function useRefNames(text: string, kinds: 'branches' | 'branches and tags') {
  const search = useDeferredValue(text.trim())
  return useQuery(refNamesQuery(useProjectPath(), search, kinds)).data ?? []
}
