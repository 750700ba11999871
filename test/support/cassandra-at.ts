import type { Service } from '../services/service.ts';

/** How a node of the tests is reached. */
export const cassandraAt = (service: Service, keyspace = 'faregate') => ({
  contactPoints: [service.address],
  localDataCentre: 'datacenter1',
  keyspace,
  tls: false,
});
