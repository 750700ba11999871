import { serveSqliteThread } from '../drivers/serve-sqlite-thread.ts';
import { openSqliteMarketFile } from './sqlite-market-file.ts';

serveSqliteThread(openSqliteMarketFile);
