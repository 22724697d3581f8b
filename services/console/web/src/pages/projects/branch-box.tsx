import { type FormEvent, useEffect, useId, useState } from 'react'
import { useRefNames } from './ref-field'

/**
 * The choice of a branch or tag for a list. It searches while one types; a whole name is taken at once, everything else (the
 * id of a commit) with Enter.
 */
export function BranchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId()
  const [text, setText] = useState(value)
  const [seen, setSeen] = useState(value)
  if (seen !== value) {
    setSeen(value)
    setText(value)
  }
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
      <datalist id={id}>
        {names.map(({ name, kind }) => (
          <option key={`${kind} ${name}`} value={name}>
            {kind}
          </option>
        ))}
      </datalist>
    </form>
  )
}
