import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { get, send } from '../../api/client'
import { useMay } from '../../api/session'
import { ActionDialog, textOf } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { FilterSelect, TextField } from '../../components/fields'
import type { SavedView } from '../../generated/types.gen'
import { parseSearch, writeSearch } from '../../lib/search-params'
import { type SagaSearch, viewNames } from './saga-filter'

const page = 'sagas'
const viewsKey = ['saved-views', page]

/**
 * Chooses a saved view, saves the current search as a view, and deletes the chosen one. `view` in the address
 * names it.
 */
export function SavedViews({ search }: { search: SagaSearch }) {
  const navigate = useNavigate()
  const mayChange = useMay('projects.change')
  const [dialog, setDialog] = useState<'save' | 'delete'>()
  const { data: views = [] } = useQuery({
    queryKey: viewsKey,
    queryFn: ({ signal }) => get<SavedView[]>('/saved_views', { page }, signal),
    staleTime: 60_000,
  })
  const chosen = views.find(({ id }) => String(id) === search.view)
  const show = (view: SavedView | undefined, replace = false) =>
    void navigate({ to: '/sagas', search: view ? { ...searchOf(view), view: String(view.id) } : {}, replace })
  useShownByName(search, chosen, show)
  return (
    <>
      {views.length > 0 && (
        <FilterSelect
          label="Saved view"
          all="Saved views"
          value={chosen && String(chosen.id)}
          options={views.map(({ id, name }) => ({ value: String(id), label: name }))}
          onChange={(wanted) => show(views.find(({ id }) => String(id) === wanted))}
        />
      )}
      {mayChange && <Button onClick={() => setDialog('save')}>Save view…</Button>}
      {mayChange && chosen && <Button onClick={() => setDialog('delete')}>Delete view…</Button>}
      {dialog === 'save' && (
        <SaveDialog search={search} onSaved={show} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'delete' && chosen && (
        <DeleteDialog view={chosen} onDeleted={() => show(undefined)} onClose={() => setDialog(undefined)} />
      )}
    </>
  )
}

const searchOf = ({ query }: SavedView): SagaSearch => parseSearch(query)

/** Applies the filters of a view when the address names a view but no filter. */
function useShownByName(
  search: SagaSearch,
  chosen: SavedView | undefined,
  show: (view: SavedView, replace: boolean) => void,
) {
  const isBare = chosen !== undefined && viewNames.every((name) => search[name] === undefined)
  const isOther = isBare && chosen.query !== ''
  useEffect(() => {
    if (isOther && chosen) show(chosen, true)
  }, [isOther])
}

/** Returns the query of a view: the filters and the order, without open dialogs. */
const queryOf = (search: SagaSearch) =>
  writeSearch(Object.fromEntries(viewNames.map((name) => [name, search[name]]))).slice(1)

function SaveDialog({
  search,
  onSaved,
  onClose,
}: {
  search: SagaSearch
  onSaved: (view: SavedView) => void
  onClose: () => void
}) {
  const client = useQueryClient()
  const save = async (form: FormData) => {
    const given = { name: textOf(form, 'name'), page, query: queryOf(search) }
    const view = await send<SavedView>('POST', '/saved_views', given)
    await client.invalidateQueries({ queryKey: viewsKey })
    onClose()
    onSaved(view)
  }
  return (
    <ActionDialog title="Save view" action="Save" run={save} onClose={onClose}>
      <p className="mb-3 text-sm text-quiet">
        Keeps the filters and the order that are shown now. Only you see the view.
      </p>
      <TextField label="Name" name="name" required maxLength={100} />
    </ActionDialog>
  )
}

function DeleteDialog({
  view,
  onDeleted,
  onClose,
}: {
  view: SavedView
  onDeleted: () => void
  onClose: () => void
}) {
  const client = useQueryClient()
  const remove = async () => {
    await send('DELETE', `/saved_views/${view.id}`)
    await client.invalidateQueries({ queryKey: viewsKey })
    onClose()
    onDeleted()
  }
  return (
    <ActionDialog title="Delete view" action="Delete" look="danger" run={remove} onClose={onClose}>
      <p>
        The view <bdi className="font-medium">{view.name}</bdi> is deleted. The sagas that it shows stay.
      </p>
    </ActionDialog>
  )
}
