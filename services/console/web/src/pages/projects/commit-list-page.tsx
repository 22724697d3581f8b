import { Page } from '../../components/page'

export const CommitListPage = () => <Page title="CommitListPage" />
