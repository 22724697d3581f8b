import { type ClipboardEvent, type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { bytes, visibleControls } from '../lib/format'
import { Button } from './button'
import { sentenceOf } from './states'
import type { Uploading, Uploads } from './use-uploads'

/** A button to choose files. */
export function FileButton({
  children,
  onFiles,
  ...props
}: {
  children: ReactNode
  'aria-label'?: string
  onFiles: (files: File[]) => void
}) {
  const ref = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={ref}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          // Clears the value, so that the same file can be chosen again.
          target.value = ''
        }}
      />
      <Button {...props} onClick={() => ref.current?.click()}>
        {children}
      </Button>
    </>
  )
}

const hasFiles = ({ dataTransfer }: Pick<globalThis.DragEvent, 'dataTransfer'>) =>
  dataTransfer?.types.includes('Files') ?? false

/** Prevents a file that is dropped outside of the target from replacing the page. */
function keepPage(event: globalThis.DragEvent) {
  if (!event.defaultPrevented && hasFiles(event)) event.preventDefault()
}

function useKeptPage() {
  useEffect(() => {
    document.addEventListener('dragover', keepPage)
    document.addEventListener('drop', keepPage)
    return () => {
      document.removeEventListener('dragover', keepPage)
      document.removeEventListener('drop', keepPage)
    }
  }, [])
}

/** Returns the files of a paste or a drop, without folders, which cannot be read as files. */
function filesIn({ items }: DataTransfer): { files: File[]; folders: number } {
  const given = [...items].filter(({ kind }) => kind === 'file')
  const plain = given.filter((item) => !item.webkitGetAsEntry()?.isDirectory)
  const files = plain.map((item) => item.getAsFile()).filter((file) => file !== null)
  return { files, folders: given.length - plain.length }
}

/** A part of the page that accepts dropped files, and files that are pasted into its fields. */
export function FileDrop({
  label,
  onFiles,
  children,
}: {
  label: string
  onFiles: (files: File[]) => void
  children: ReactNode
}) {
  const [isOver, setIsOver] = useState(false)
  const [hasFolders, setHasFolders] = useState(false)
  useKeptPage()
  const take = (event: DragEvent | ClipboardEvent, given: DataTransfer) => {
    const { files, folders } = filesIn(given)
    if (files.length + folders === 0) return
    event.preventDefault()
    setHasFolders(folders > 0)
    if (files.length > 0) onFiles(files)
  }
  return (
    <fieldset
      aria-label={label}
      className={`min-w-0 rounded-lg ${isOver ? 'outline-2 outline-offset-4 outline-accent outline-dashed' : ''}`}
      onDragOver={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false)
      }}
      onDrop={(event) => {
        setIsOver(false)
        take(event, event.dataTransfer)
      }}
      onPaste={(event) => {
        // Office programs copy a picture of each text beside it.
        if (event.clipboardData.getData('text/plain') === '') take(event, event.clipboardData)
      }}
    >
      {children}
      {hasFolders && (
        <p role="alert" className="mt-2 text-sm text-bad">
          A folder cannot be uploaded. Choose the files in it.
        </p>
      )}
    </fieldset>
  )
}

/**
 * The files that are not stored yet, each with its progress and a way to cancel it, and the file that was
 * stored last.
 */
export const UploadList = ({ items, stored, remove, retry }: Uploads) => (
  <>
    {items.length > 0 && (
      <ul aria-label="Uploads" className="mt-3 flex flex-col gap-2">
        {items.map((item) => (
          <li key={item.id} className="rounded-md border px-3 py-2 text-sm">
            <UploadRow item={item} onRemove={() => remove(item)} onRetry={() => retry(item)} />
          </li>
        ))}
      </ul>
    )}
    <p role="status" className="mt-2 text-sm text-quiet empty:hidden" dir="auto">
      {stored !== undefined && `${visibleControls(stored)} is uploaded.`}
    </p>
  </>
)

function UploadRow({
  item: { file, state, sentBytes, error },
  onRemove,
  onRetry,
}: {
  item: Uploading
  onRemove: () => void
  onRetry: () => void
}) {
  const name = visibleControls(file.name)
  if (state === 'failed')
    return (
      <div className="flex flex-wrap items-center gap-2">
        <p role="alert" className="min-w-[min(100%,12rem)] flex-1 text-bad" dir="auto">
          {name} is not uploaded: {sentenceOf(error)}
        </p>
        <Button aria-label={`Try again: ${name}`} onClick={onRetry}>
          Try again
        </Button>
        <Button aria-label={`Dismiss ${name}`} onClick={onRemove}>
          Dismiss
        </Button>
      </div>
    )
  const percent = file.size === 0 ? 0 : Math.min(100, Math.floor((sentBytes / file.size) * 100))
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="min-w-[min(100%,8rem)] flex-1" dir="auto">
        {name}
      </span>
      <span className="text-quiet tabular-nums">
        {state === 'waiting' ? 'waiting' : `${percent} % of ${bytes(file.size)}`}
      </span>
      <progress
        aria-label={`Upload of ${name}`}
        max={100}
        value={percent}
        className="h-2 w-32 appearance-none overflow-hidden rounded-full bg-raised [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:bg-accent"
      />
      <Button aria-label={`Cancel the upload of ${name}`} onClick={onRemove}>
        Cancel
      </Button>
    </div>
  )
}
