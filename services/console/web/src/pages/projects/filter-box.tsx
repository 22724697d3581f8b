import type { FormEvent } from 'react'
import { useTyped } from '../../components/use-typed'

/** A text filter, which applies with Enter and when the field loses the focus. */
export function FilterBox({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const [text, setText] = useTyped(value ?? '')
  const apply = () => {
    if (text.trim() !== (value ?? '')) onChange(text.trim() || undefined)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    apply()
  }
  return (
    <form onSubmit={submit}>
      <input
        aria-label={label}
        placeholder={label}
        dir="auto"
        autoComplete="off"
        maxLength={1000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={apply}
        className="min-h-8 w-40 rounded-md border bg-panel px-2.5 py-1 text-sm placeholder:text-quiet"
      />
    </form>
  )
}
