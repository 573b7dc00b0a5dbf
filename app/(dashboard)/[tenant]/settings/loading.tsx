import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'

export default function Loading() {
  return (
    <>
      <PageHeader title={<Skeleton height={18} width={140} radius="sm" />} />
      <PageBody>
        <Skeleton height={200} radius="md" />
      </PageBody>
    </>
  )
}
