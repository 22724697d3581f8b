import { useEffect } from 'react'
import { useTyped } from './use-typed'

const typingPauseMs = 250

/** The search field of a list, which `/` focuses. The list updates when typing pauses. */
export function SearchBox({
  value,
  onChange,
  placeholder,
}: {
  value: string | undefined
  onChange: (value: string | undefined) => void
  placeholder?: string
}) {
  const [text, setText] = useTyped(value ?? '')
  useEffect(() => {
    if (text === (value ?? '')) return
    const timer = setTimeout(() => onChange(text || undefined), typingPauseMs)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  return (
    <input
      type="search"
      aria-label="Search"
      data-search=""
      dir="auto"
      placeholder={placeholder}
      value={text}
      maxLength={255}
      onChange={(event) => setText(event.target.value)}
      className="min-h-8 w-full min-w-40 flex-1 rounded-md border bg-panel px-2.5 py-1 text-sm placeholder:text-quiet sm:max-w-80"
    />
  )
}
