import { Page } from '../../components/page'

export const UsersPage = () => <Page title="UsersPage" />
