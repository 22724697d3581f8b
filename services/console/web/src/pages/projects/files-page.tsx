import { Page } from '../../components/page'

export const FilesPage = () => <Page title="FilesPage" />
