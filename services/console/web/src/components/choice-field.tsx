import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { type ComponentProps, type FormEvent, useDeferredValue, useEffect, useId, useState } from 'react'
import { TextField } from './fields'
import { useTyped } from './use-typed'

/** A query for names that contain a text, for a list of any length. */
export type FindNames = (text: string) => UseQueryOptions<string[], Error, string[], string[]>

const useNames = (find: FindNames, text: string) =>
  useQuery({ ...find(useDeferredValue(text.trim())), placeholderData: (before) => before }).data ?? []

const Names = ({ id, names }: { id: string; names: readonly string[] }) => (
  <datalist id={id}>
    {names.map((name) => (
      <option key={name} value={name} />
    ))}
  </datalist>
)

/** A form field for a name, which searches during typing. */
export function ChoiceField({
  find,
  ...props
}: { find: FindNames } & Omit<ComponentProps<typeof TextField>, 'list' | 'value' | 'onChange'>) {
  const id = useId()
  const [text, setText] = useState('')
  return (
    <>
      <TextField {...props} list={id} value={text} onChange={({ target }) => setText(target.value)} />
      <Names id={id} names={useNames(find, text)} />
    </>
  )
}

/**
 * A filter by a name, which searches during typing. A complete name applies at once, any other text with
 * Enter.
 */
export function ChoiceFilter({
  label,
  all,
  value,
  onChange,
  find,
}: {
  label: string
  /** Text while nothing is chosen. */
  all: string
  value: string | undefined
  onChange: (value: string | undefined) => void
  find: FindNames
}) {
  const id = useId()
  const [text, setText] = useTyped(value ?? '')
  const names = useNames(find, text === value ? '' : text)
  const isChosen = text !== (value ?? '') && (text === '' || names.includes(text))
  useEffect(() => {
    if (isChosen) onChange(text || undefined)
  }, [isChosen, text, onChange])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(text.trim() || undefined)
  }
  return (
    <form onSubmit={submit}>
      <input
        type="search"
        aria-label={label}
        placeholder={all}
        list={id}
        value={text}
        maxLength={255}
        dir="auto"
        autoComplete="off"
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => setText(value ?? '')}
        className="min-h-8 w-48 rounded-md border bg-panel px-2 py-1 text-sm placeholder:text-quiet"
      />
      <Names id={id} names={names} />
    </form>
  )
}
