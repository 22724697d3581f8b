import { Page } from '../../components/page'

export const CommitPage = () => <Page title="CommitPage" />
