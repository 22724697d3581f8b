import { useState } from 'react'

/**
 * Returns the text of a field and its setter; when `value` changes from outside, the text is replaced by it.
 */
export function useTyped(value: string): [text: string, type: (text: string) => void] {
  const [text, setText] = useState(value)
  const [seen, setSeen] = useState(value)
  if (seen !== value) {
    setSeen(value)
    setText(value)
  }
  return [text, setText]
}
