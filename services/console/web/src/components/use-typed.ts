import { useState } from 'react'

/**
 * The text of a field and what changes it; when `value` changes from elsewhere, the text becomes that again.
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
