import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { holdPage } from '../api/session-end'
import type { Transfer } from '../api/upload'

/** A file that waits, is being sent, or could not be stored. */
export interface Uploading {
  id: number
  file: File
  state: 'waiting' | 'sending' | 'failed'
  sentBytes: number
  error?: unknown
}

let lastId = 0

/**
 * Sends files one after the other while the page stays. Leaving the page asks for confirmation.
 *
 * @param store sends one file. After a failure, the file can be tried again
 * @param discard removes the stored parts of a failed file that is not tried again
 */
export function useUploads(
  store: (file: File, transfer: Transfer) => Promise<unknown>,
  discard?: (file: File) => Promise<unknown>,
) {
  const [items, setItems] = useState<Uploading[]>([])
  /** The name of the last stored file. */
  const [stored, setStored] = useState<string>()
  const running = useRef(new Map<number, AbortController>())
  const queue = useRef(Promise.resolve())
  const isBusy = items.some(({ state }) => state !== 'failed')
  useEffect(() => {
    if (items.length > 0) return holdPage()
  }, [items.length])
  useEffect(() => {
    const uploads = running.current
    return () => {
      for (const controller of uploads.values()) controller.abort()
    }
  }, [])
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isBusy &&
      current.pathname !== next.pathname &&
      !confirm('Files are being uploaded. Leave the page all the same?'),
    enableBeforeUnload: isBusy,
    disabled: !isBusy,
  })

  const change = (id: number, part: Partial<Uploading>) =>
    setItems((before) => before.map((item) => (item.id === id ? { ...item, ...part } : item)))
  const remove = (id: number) => {
    running.current.get(id)?.abort()
    running.current.delete(id)
    setItems((before) => before.filter((item) => item.id !== id))
  }
  const run = async (id: number, file: File) => {
    const controller = running.current.get(id)
    if (!controller || controller.signal.aborted) return
    change(id, { state: 'sending', sentBytes: 0 })
    try {
      await store(file, {
        signal: controller.signal,
        onProgress: (sentBytes) => change(id, { sentBytes }),
      })
      if (controller.signal.aborted) return
      remove(id)
      setStored(file.name)
    } catch (error) {
      if (!controller.signal.aborted) change(id, { state: 'failed', error })
    }
  }
  const enqueue = (id: number, file: File) => {
    running.current.set(id, new AbortController())
    queue.current = queue.current.then(() => run(id, file))
  }
  return {
    items,
    stored,
    isBusy,
    add(files: readonly File[]) {
      const added = files.map((file): Uploading => {
        lastId += 1
        return { id: lastId, file, state: 'waiting', sentBytes: 0 }
      })
      setStored(undefined)
      setItems((before) => [...before, ...added])
      for (const { id, file } of added) enqueue(id, file)
    },
    /** Removes the message about the last stored file. */
    forgetStored: () => setStored(undefined),
    /** Cancels a file, or removes a failed one from the list. */
    remove({ id, file, state }: Uploading) {
      remove(id)
      if (state === 'failed') void discard?.(file)
    },
    retry({ id, file }: Uploading) {
      change(id, { state: 'waiting', error: undefined })
      enqueue(id, file)
    },
  }
}

export type Uploads = ReturnType<typeof useUploads>
