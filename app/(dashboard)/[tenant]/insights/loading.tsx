import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'

export default function Loading() {
  return (
    <>
      <PageHeader title="Insights" />
      <PageBody>
        <Skeleton height={96} radius="md" />
        <Skeleton height={220} radius="md" mt="md" />
      </PageBody>
    </>
  )
}
