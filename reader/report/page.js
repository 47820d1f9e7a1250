for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = 'copied';
    } catch {
      button.textContent = 'not allowed here: select the text';
    }
    setTimeout(() => { button.textContent = 'copy'; }, 2000);
  });
}
const open = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest('details');
  if (folded) folded.open = true;
};
addEventListener('hashchange', open);
open();
