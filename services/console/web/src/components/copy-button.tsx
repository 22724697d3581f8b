import { type MouseEvent, useState } from 'react'
import { Button } from './button'

/**
 * Copies a text. Browsers provide a clipboard only for pages on https and on this machine; otherwise, a
 * selection is copied.
 */
async function copyText(text: string, beside: HTMLElement): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'sr-only'
  // An open dialog prevents selections outside of it.
  beside.parentElement?.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  beside.focus()
  if (!isCopied) throw new Error('the browser does not copy')
}

/** A button that copies a text, and confirms it for two seconds. */
export function CopyButton({ label, text }: { label: string; text: () => string | Promise<string> }) {
  const [said, setSaid] = useState<string>()
  const copy = async ({ currentTarget }: MouseEvent<HTMLButtonElement>) => {
    try {
      await copyText(await text(), currentTarget)
      setSaid('Copied')
    } catch {
      setSaid('The browser does not allow copying')
    }
    setTimeout(() => setSaid(undefined), 2000)
  }
  return (
    <>
      <Button onClick={(event) => void copy(event)}>{label}</Button>
      <span role="status" className="text-sm text-quiet empty:hidden">
        {said}
      </span>
    </>
  )
}
