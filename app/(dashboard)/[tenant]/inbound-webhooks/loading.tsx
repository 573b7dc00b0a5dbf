import { ListLoading } from '../_versioned/list-skeleton'

export default function InboundLoading() {
  return <ListLoading title="Inbound webhooks" />
}
