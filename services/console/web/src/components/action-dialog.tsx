import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { filledLines } from '../lib/format'
import { Button, type Look } from './button'
import { Modal, ModalActions } from './modal'
import { Problem } from './states'

/**
 * A dialog with a form and one action. It stays open and shows the sentence of the refusal when the action
 * fails.
 *
 * @param action the label of the action's button
 * @param run receives the values of the form. It must close the dialog on success
 */
export function ActionDialog({
  title,
  action,
  look = 'primary',
  run,
  onClose,
  children,
}: {
  title: string
  action: string
  look?: Look
  run: (form: FormData) => Promise<unknown>
  onClose: () => void
  children?: ReactNode
}) {
  const [problem, setProblem] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const refusal = useRef<HTMLDivElement>(null)
  // The sentence and the buttons below it may be out of sight in a long form.
  useEffect(() => {
    if (problem !== undefined) refusal.current?.scrollIntoView({ block: 'nearest' })
  }, [problem])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setProblem(undefined)
    try {
      await run(form)
    } catch (error) {
      setProblem(error)
    }
    setBusy(false)
  }
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        {problem !== undefined && (
          <div ref={refusal} className="scroll-mb-20">
            <Problem error={problem} />
          </div>
        )}
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={look} disabled={busy}>
            {action}
          </Button>
        </ModalActions>
      </form>
    </Modal>
  )
}

/** Returns the text of a field, trimmed. */
export const textOf = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

/** Returns the items of a list that is typed one per line. */
export const linesOf = (form: FormData, name: string): string[] => filledLines(textOf(form, name))
