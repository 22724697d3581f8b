import { Page } from '../../components/page'

export const BranchesPage = () => <Page title="BranchesPage" />
