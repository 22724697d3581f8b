import { Page } from '../../components/page'

export const DocsPage = () => <Page title="DocsPage" />
