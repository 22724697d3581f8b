import type { openDocumentedApi } from '@switchyard/testing'

type Api = Awaited<ReturnType<typeof openDocumentedApi>>

export async function callPackages(api: Api, project: { id: number }) {
  const packages = '/projects/{id}/packages'
  const generic = `${packages}/generic/{package_name}/{package_version}/{file_name}`
  const path = { ...project, package_name: 'app', package_version: '1', file_name: 'linux/app.zip' }
  await api.call(`PUT ${generic}`, { path, content: 'one' })
  const given = { path, content: 'two', query: { select: 'package_file' } }
  const { body } = await api.call(`PUT ${generic}`, given)
  const made = body as { id: number; package_id: number }
  await api.call(`PUT ${generic}`, { path: { ...path, file_name: 'b' }, content: '' })
  await api.call(`GET ${generic}`, { path })
  await api.call(`GET ${generic}`, { path, headers: { Range: 'bytes=1-' } })
  await api.call(`GET ${generic}`, { path, headers: { Range: 'bytes=9-' } })
  await api.call(`GET ${packages}`, { path: project, query: { package_name: 'a' } })
  const one = { ...project, package_id: made.package_id }
  await api.call(`GET ${packages}/{package_id}`, { path: one })
  await api.call(`GET ${packages}/{package_id}/package_files`, { path: one })
  const file = { ...one, package_file_id: made.id }
  await api.call(`DELETE ${packages}/{package_id}/package_files/{package_file_id}`, { path: file })
  await api.call(`DELETE ${generic}`, { path })
  await api.call(`DELETE ${packages}/{package_id}`, { path: one })
}

export async function callUploads(api: Api, path: { id: number }) {
  const uploads = '/projects/{id}/uploads'
  const upload = async () => {
    const content = new FormData()
    content.set('file', new Blob(['bytes']), 'a.png')
    const { body } = await api.call(`POST ${uploads}`, { path, content })
    const { id, url } = body as { id: number; url: string }
    const [, , secret = '', filename = ''] = url.split('/')
    return { byId: { ...path, upload_id: id }, byAddress: { ...path, secret, filename } }
  }
  const { byId } = await upload()
  const { byAddress } = await upload()
  await api.call(`GET ${uploads}`, { path })
  await api.call(`GET ${uploads}/{upload_id}`, { path: byId })
  await api.call(`GET ${uploads}/{secret}/{filename}`, { path: byAddress })
  await api.call(`DELETE ${uploads}/{upload_id}`, { path: byId })
  await api.call(`DELETE ${uploads}/{secret}/{filename}`, { path: byAddress })
}
