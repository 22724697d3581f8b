import { Autocomplete } from '@base-ui/react/autocomplete'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { getPage } from '../api/client'
import { mayUse, useSession } from '../api/session'
import { Modal } from '../components/modal'
import type { BasicProject } from '../generated/types.gen'
import { navigation } from './main-navigation'

interface Entry {
  value: string
  kind: 'Page' | 'Project' | 'Saga'
  open: () => Promise<void>
}

/** Opens a page by its name, a project by its path, or a saga by its id. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const { entries, isSettled } = useEntries(text.trim())
  /** The text with which Enter was pressed before its search had answered. */
  const [entered, setEntered] = useState<string>()
  // An entry that the reader has chosen, or that no search can move, needs no answer.
  const isChosen = useRef(false)
  const openEntry = (entry: Entry) => {
    onClose()
    void entry.open()
  }
  const isDue = isSettled && entered === text
  useEffect(() => {
    const [first] = entries
    if (!isDue) return
    setEntered(undefined)
    if (first) openEntry(first)
  }, [isDue])
  return (
    <Modal title="Command palette" onClose={onClose}>
      <Autocomplete.Root
        open
        inline
        mode="none"
        items={entries}
        itemToStringValue={(entry: Entry) => entry.value}
        value={text}
        onValueChange={setText}
        autoHighlight="always"
        keepHighlight
        onItemHighlighted={(entry: Entry | undefined, { reason }) => {
          isChosen.current = entry?.kind === 'Page' || reason === 'keyboard' || reason === 'pointer'
        }}
      >
        <Autocomplete.Input
          aria-label="Page, saga id or project"
          placeholder="Page, saga id or project"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || isSettled || isChosen.current) return
            event.preventDefault()
            event.preventBaseUIHandler()
            setEntered(text)
          }}
          className="w-full rounded-md border bg-panel px-3 py-2"
        />
        <Autocomplete.Empty className="px-3 py-2 text-quiet empty:hidden">
          {isSettled ? 'Nothing has this name.' : 'Searching…'}
        </Autocomplete.Empty>
        <Autocomplete.List className="mt-2 max-h-80 overflow-y-auto">
          {(entry: Entry) => (
            <Autocomplete.Item
              key={`${entry.kind} ${entry.value}`}
              value={entry}
              onClick={() => openEntry(entry)}
              className="flex cursor-default items-center gap-3 rounded-md px-3 py-1.5 data-highlighted:bg-accent-soft"
            >
              <span className="min-w-0 flex-1 truncate" dir="auto">
                {entry.value}
              </span>
              <span className="text-sm text-quiet">{entry.kind}</span>
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
    </Modal>
  )
}

/** Returns the entries for a text, and whether they are complete, because projects come from the API. */
function useEntries(text: string): { entries: Entry[]; isSettled: boolean } {
  const session = useSession()
  const navigate = useNavigate()
  const isSearched = text !== '' && mayUse(session, 'projects')
  const projects = useQuery({
    queryKey: ['palette', 'projects', text],
    queryFn: ({ signal }) =>
      getPage<BasicProject>(
        '/projects',
        { search: text, search_namespaces: true, simple: true, per_page: 6 },
        signal,
      ),
    enabled: isSearched,
    placeholderData: (previous) => previous,
  })
  const pages = navigation
    .filter(({ area }) => area === undefined || mayUse(session, area))
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map(({ name, to }): Entry => ({ value: name, kind: 'Page', open: () => navigate({ to }) }))
  if (text === '') return { entries: pages, isSettled: true }
  const found = (projects.data?.rows ?? []).map((project): Entry => {
    const [namespace = '', name = ''] = project.path_with_namespace.split('/')
    return {
      value: project.path_with_namespace,
      kind: 'Project',
      open: () => navigate({ to: '/projects/$namespace/$name', params: { namespace, name } }),
    }
  })
  const saga: Entry = {
    value: text,
    kind: 'Saga',
    open: () => navigate({ to: '/sagas/$sagaId', params: { sagaId: text } }),
  }
  const [exact, others] = [true, false].map((isExact) =>
    found.filter(({ value }) => (value.toLowerCase() === text.toLowerCase()) === isExact),
  )
  return {
    entries: [...pages, ...(exact ?? []), ...(others ?? []), ...(mayUse(session, 'sagas') ? [saga] : [])],
    isSettled: !isSearched || !projects.isFetching,
  }
}
