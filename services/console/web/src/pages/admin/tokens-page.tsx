import { Page } from '../../components/page'

export const TokensPage = () => <Page title="TokensPage" />
