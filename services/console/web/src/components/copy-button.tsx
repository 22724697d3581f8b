import { type MouseEvent, useState } from 'react'
import { Button } from './button'

/** Browsers have a clipboard for pages on https and on this machine only; others copy what is selected. */
async function copyText(text: string, beside: HTMLElement): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'sr-only'
  // An open dialog lets nothing outside of it be selected.
  beside.parentElement?.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  beside.focus()
  if (!isCopied) throw new Error('the browser does not copy')
}

/** Copies a text, and says so for two seconds. */
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
