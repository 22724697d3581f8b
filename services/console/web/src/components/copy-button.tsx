import { useState } from 'react'
import { Button } from './button'

/** Copies a text, and says so for two seconds. */
export function CopyButton({ label, text }: { label: string; text: () => string | Promise<string> }) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text())
      setSaid('Copied')
    } catch {
      setSaid('The browser does not allow copying')
    }
    setTimeout(() => setSaid(undefined), 2000)
  }
  return (
    <>
      <Button onClick={() => void copy()}>{label}</Button>
      <span role="status" className="text-sm text-quiet empty:hidden">
        {said}
      </span>
    </>
  )
}
