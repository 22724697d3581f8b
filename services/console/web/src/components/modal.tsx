import { type ReactNode, useEffect, useRef } from 'react'
import { useFocusReturn } from './use-focus-return'

/**
 * A dialog of the browser: it holds the focus, Escape closes it, and the focus returns to its former element,
 * or to a neighbour when that was deleted. The content is mounted only while it is open, so each opening
 * begins with its initial state.
 *
 * @param title the accessible name, shown as a heading
 */
export function Modal({
  title,
  onClose,
  children,
  wide,
}: {
  title: string
  onClose: () => void
  children: ReactNode
  wide?: boolean
}) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    ref.current?.showModal()
  }, [])
  useFocusReturn()
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onClose={onClose}
      className={`m-auto max-h-[90dvh] w-[calc(100vw-2rem)] overflow-y-auto rounded-xl border bg-panel p-5 text-ink shadow-xl ${wide ? 'max-w-3xl' : 'max-w-lg'}`}
    >
      <h2 className="mb-4 text-lg font-semibold" dir="auto">
        {title}
      </h2>
      {children}
    </dialog>
  )
}

/** The row of buttons at the end of a dialog. */
export const ModalActions = ({ children }: { children: ReactNode }) => (
  <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
)
