// The page of `hyperslab view`: H5Web's viewer, and around it a choice of files and a notice of changes.
import { createRoot } from 'react-dom/client';

import '@h5web/app/styles.css';
import './page.css';
import { Page } from './Page.jsx';

createRoot(document.getElementById('page')).render(<Page />);
