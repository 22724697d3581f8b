import { Autocomplete } from '@base-ui/react/autocomplete'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage } from '../api/client'
import { mayUse, useSession } from '../api/session'
import { Modal } from '../components/modal'
import type { BasicProject } from '../generated/types.gen'
import { navigation } from './navigation'

interface Entry {
  value: string
  kind: 'Page' | 'Project' | 'Saga'
  open: () => Promise<void>
}

/** Goes to a page by its name, to a project by its path, or to a saga by its id. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const entries = useEntries(text.trim())
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
      >
        <Autocomplete.Input
          aria-label="Page, saga id or project"
          placeholder="Page, saga id or project"
          className="w-full rounded-md border bg-panel px-3 py-2"
        />
        <Autocomplete.Empty className="px-3 py-2 text-quiet empty:hidden">
          Nothing has this name.
        </Autocomplete.Empty>
        <Autocomplete.List className="mt-2 max-h-80 overflow-y-auto">
          {(entry: Entry) => (
            <Autocomplete.Item
              key={`${entry.kind} ${entry.value}`}
              value={entry}
              onClick={() => {
                onClose()
                void entry.open()
              }}
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

function useEntries(text: string): Entry[] {
  const session = useSession()
  const navigate = useNavigate()
  const projects = useQuery({
    queryKey: ['palette', 'projects', text],
    queryFn: ({ signal }) =>
      getPage<BasicProject>(
        '/projects',
        { search: text, search_namespaces: true, simple: true, per_page: 6 },
        signal,
      ),
    enabled: text !== '' && mayUse(session, 'projects'),
    placeholderData: (previous) => previous,
  })
  const pages = navigation
    .filter(({ area }) => area === undefined || mayUse(session, area))
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map(({ name, to }): Entry => ({ value: name, kind: 'Page', open: () => navigate({ to }) }))
  if (text === '') return pages
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
  return [...pages, ...found, ...(mayUse(session, 'sagas') ? [saga] : [])]
}
