import { Page } from '../../components/page'

export const SystemPage = () => <Page title="SystemPage" />
